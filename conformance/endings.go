package conformance

// Virtual hosts and users that are deleted while clients work with them, and made again. Both are this program's own, so their names
// have that of the run's virtual host in them: a script writes / for it.

const (
	farVHost = "/2"     // the virtual host of the connections far and gus
	farActor = "far.f1" // the administrator
	gusActor = "gus.h1" // the user in the second virtual host
	samActor = "sam.s1" // the user in the run's virtual host
	ownUser  = "u/"
)

// expression returns one for permissions that allows most.
func (g *generator) expression() string { return g.pick(".*", ".*", ".*", "^far", "^e$", `""`) }

// permitOwn gives the program's own user permissions; more is what else the statement says.
func (g *generator) permitOwn(more string) {
	g.add("permit %s configure=%s write=%s read=%s%s", ownUser, g.expression(), g.expression(), g.expression(), more)
}

// lostVHost deletes a virtual host under its connections, asks for what is left, and makes it again.
func (g *generator) lostVHost() {
	g.add("create-vhost %s", farVHost)
	g.add("user %s", ownUser)
	g.permitOwn(" vhost=" + farVHost)
	connect := func() {
		g.reconnect("far", "vhost="+farVHost)
		g.reconnect("gus", "user="+ownUser+" vhost="+farVHost)
	}
	connect()
	g.some(5+g.IntN(5), g.farActions()...)
	g.deleteVHost()
	g.some(1+g.IntN(2), connect, g.farActions()[0], g.deleteVHost)
	g.add("create-vhost %s", farVHost)
	connect()
	g.do(farActor, "declare queue far passive")
	g.some(3+g.IntN(5), append(g.farActions(), func() { g.permitOwn(" vhost=" + farVHost) }, connect)...)
	g.deleteVHost()
	g.add("delete-user %s", ownUser)
}

func (g *generator) deleteVHost() { g.deleteOwn("delete-vhost "+farVHost, farActor, gusActor) }

// deleteOwn deletes what the connections of some channels need. The channels are open, so that their clients see it.
func (g *generator) deleteOwn(statement string, actors ...string) {
	for _, actor := range actors {
		g.do(actor, "qos 0")
	}
	g.add("%s", statement)
	for _, actor := range actors {
		g.forget(actor, true)
	}
}

// reconnect closes a connection, if it is open, and opens it.
func (g *generator) reconnect(conn, login string) {
	g.add("disconnect %s", conn)
	g.forget(conn+".", true)
	g.add("connect %s %s", conn, login)
}

// farActions are what clients do in the second virtual host. Consumers are those of one queue and one channel: in which order queues end
// is left to chance.
func (g *generator) farActions() []func() {
	actor := func() string { return g.pick(farActor, farActor, gusActor) }
	return []func(){
		func() { g.do(actor(), "get far") },
		func() { g.do(actor(), "declare queue far"+g.pick("", "", " quorum", " x-max-length=1", " passive")) },
		func() {
			g.do(actor(), "publish "+g.pick("far", "far", "amq.direct/k")+" "+g.body()+g.pick("", " mandatory=true"))
		},
		func() { g.do(actor(), "bind far amq.direct/k") },
		func() {
			g.do(farActor, "qos "+g.pick("0", "1"))
			g.do(farActor, "consume far "+g.newTag(farActor)+g.pick("", " no-ack"))
		},
		func() { g.settleOne(actor()) },
		func() { g.do("far.f2", g.pick("tx select", "publish far "+g.body(), "tx commit")) },
	}
}

// lostUser deletes a user under a connection that holds messages, asks what the name is good for then, and makes the user again.
func (g *generator) lostUser() {
	g.add("user %s", ownUser)
	g.permitOwn("")
	g.do("t", "declare exchange e topic")
	g.do("t", "declare queue "+episodeLetter)
	g.do("t", "declare queue "+episodeQueue+g.pick("", " quorum")+g.pick("", "", " x-max-length=2")+` x-dead-letter-exchange="" x-dead-letter-routing-key=`+episodeLetter)
	g.do("t", "bind e e/#")
	connect := func() { g.reconnect("sam", "user="+ownUser) }
	connect()
	actions := []func(){
		func() { g.do(samActor, "get e") },
		func() { g.publishTo(1 + g.IntN(2)) },
		func() { g.do(samActor, "publish e/"+g.pick("k", "a")+" "+g.body()) },
		func() { g.do(samActor, "qos "+g.pick("0", "1", "2")) },
		func() { g.do(samActor, "consume e "+g.newTag(samActor)+g.pick("", "", " no-ack")) },
		func() { g.do(episodeOther, "consume e "+g.newTag(episodeOther)) },
		func() { g.settleOne(samActor) },
		func() { g.do(samActor, g.pick("tx select", "tx select", "tx commit")) },
		func() { g.add("permit-topic %s e write=%s read=.*", ownUser, g.pick("^k", "^a", ".*")) },
	}
	end := func() { g.deleteOwn("delete-user "+ownUser, samActor) }
	g.some(6+g.IntN(6), actions...)
	end()
	g.some(g.IntN(3), connect, end, actions[1])
	g.add("user %s", ownUser)
	connect()
	g.permitOwn("")
	connect()
	g.some(3+g.IntN(5), append(actions, func() { g.permitOwn("") })...)
	end()
}
