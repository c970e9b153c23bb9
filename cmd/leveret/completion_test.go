package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func completionFor(t *testing.T, shell string) string {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"completion", shell}, streams(&out, &errs)), errs.String())
	return out.String()
}

// The words that bash offers for lines.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for line, want := range map[string]string{
		"leveret s":          "serve",
		"leveret ctl list_q": "list_queues",
		"leveret ctl --control /x -p v list_user_t": "list_user_topic_permissions",
		"leveret ctl -q list_queues messages_r":     "messages_ready messages_ready_ram messages_ram",
		"leveret ctl publish --ex":                  "--exchange",
		"leveret ctl list_queues --formatter pr":    "pretty_table",
		"leveret serve --def":                       "--default-configure --default-pass --default-queue-type --default-read --default-user --default-user-tags --default-write --definitions",
		"leveret completion f":                      "fish",
		"leveret ctl set_policy --apply":            "--apply-to",
		"leveret ctl nonesuch x":                    "",
	} {
		words := strings.Fields(line)
		script := completionFor(t, "bash") + "COMP_WORDS=(" + line + ")\nCOMP_CWORD=" + string(rune('0'+len(words)-1)) +
			"\n_leveret\nprintf '%s\\n' \"${COMPREPLY[@]}\""
		cmd := exec.Command(bash, "--norc", "-c", script)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, want, strings.Join(strings.Fields(string(out)), " "), line)
	}
}

// The words that fish offers for lines, which are some of those of bash.
func TestFishCompletion(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("no fish")
	}
	for line, want := range map[string]string{
		"leveret se":         "serve",
		"leveret ctl list_q": "list_queues",
		"leveret ctl --control /x -p v list_user_t": "list_user_topic_permissions",
		"leveret ctl -q list_queues messages_rea":   "messages_ready messages_ready_ram",
		"leveret ctl publish --ex":                  "--exchange",
		"leveret serve --max-m":                     "--max-message-size",
		"leveret completion f":                      "fish",
	} {
		cmd := exec.Command(fish, "--no-config", "-c", "source -; complete -C '"+line+"'")
		cmd.Stdin = strings.NewReader(completionFor(t, "fish"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		var found []string
		for offer := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(offer), "\t")
			found = append(found, word)
		}
		assert.Equal(t, want, strings.Join(found, " "), line)
	}
}

// Every command of the usage text is completed.
func TestTopLevelCommands(t *testing.T) {
	inUsage := []string{"help"}
	for _, m := range regexp.MustCompile(`(?m)^(?:usage:|      ) leveret (\w+)`).FindAllStringSubmatch(usage, -1) {
		inUsage = append(inUsage, m[1])
	}
	assert.ElementsMatch(t, inUsage, topLevel)
}

// Other shells read their scripts, where they are installed.
func TestCompletionScripts(t *testing.T) {
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		script := completionFor(t, shell)
		for _, word := range []string{"list_queues", "check_port_listener", "max-message-size", "completion"} {
			assert.Contains(t, script, word, shell)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "script")
		require.NoError(t, os.WriteFile(file, []byte(script), 0o600))
		out, err := exec.Command(path, append(check, file)...).CombinedOutput()
		assert.NoError(t, err, "%s: %s", shell, out)
		assert.Empty(t, string(out))
	}
	var out, errs bytes.Buffer
	assert.Equal(t, exitUsage, run([]string{"completion", "csh"}, streams(&out, &errs)))
	assert.Contains(t, errs.String(), "bash|zsh|fish")
}

// Errors name what was meant.
func TestWhatWasMeant(t *testing.T) {
	for line, want := range map[string]string{
		"serv":                            "probably serve is meant",
		"serve --heartbeats 1s":           "flag provided but not defined: -heartbeats; probably --heartbeat is meant",
		"ctl list_queues --formater json": "--formater : \nDid you mean '--formatter'?",
		"ctl list_queues mesages":         "Info key(s) mesages are not supported\nDid you mean 'messages'?",
		"ctl help list_queue":             "Did you mean 'list_queues'?",
	} {
		var out, errs bytes.Buffer
		args := strings.Fields(line)
		if args[0] == "ctl" {
			s := testSettings(t)
			startForTest(t, s)
			args = append([]string{"ctl", "--control", s.control}, args[1:]...)
		}
		assert.NotZero(t, run(args, streams(&out, &errs)), line)
		assert.Contains(t, errs.String(), want, line)
	}
}
