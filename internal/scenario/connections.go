package scenario

import "github.com/leveretmq/leveret"

// connect NAME [user=] [password=] [vhost=] [channel-max=] [no-cancel-notify] opens a connection.
func connect(r *run, s *session, w *words) ([]string, error) {
	c := r.client(w.word("a name"))
	c.login = Login{User: r.own(w.str("user")), Password: r.own(w.str("password")), VHost: r.own(w.str("vhost")),
		ChannelMax: w.number("channel-max", 0), NoCancelNotify: w.flag("no-cancel-notify")}
	w.done()
	conn, err := r.driver.Connect(c.login)
	if err == nil {
		c.conn = conn
		return nil, nil
	}
	if e, ok := err.(*leveret.Error); ok {
		return []string{r.render.failure(e, "connection")}, nil
	}
	return nil, err
}

// update-secret sends connection.update-secret.
func updateSecret(_ *run, s *session, w *words) ([]string, error) {
	w.done()
	return nil, s.client.conn.UpdateSecret()
}

// disconnect [NAME] closes a connection; kill does so without saying goodbye.
func disconnect(r *run, s *session, w *words) ([]string, error) {
	c := s.client
	if len(w.pos) > 0 {
		c = r.client(w.word("a name"))
	}
	w.done()
	if c.conn == nil {
		return nil, nil
	}
	conn := c.conn
	r.drop(c)
	if w.step.Verb == "kill" {
		return nil, conn.Kill()
	}
	return nil, conn.Close()
}
