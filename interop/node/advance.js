// Lets an hour pass for a leveret serve --clock manual, and fails if anything is not as it has to be:
//
//   npm ci && node advance.js amqp://guest:guest@127.0.0.1:5672/ leveret ctl
//
// The first argument is the broker's URL, the others are the command line of leveret ctl.
'use strict';

const assert = require('node:assert/strict');
const { execFile } = require('node:child_process');
const { once, EventEmitter } = require('node:events');
const { promisify } = require('node:util');
const amqp = require('amqplib');

async function main(url, ...ctl) {
  const [command, ...args] = ctl;
  const advance = (duration) => promisify(execFile)(command, [...args, 'advance', duration]);
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  const { queue: work } = await channel.assertQueue('', { exclusive: true });
  const { queue: wait } = await channel.assertQueue('', {
    exclusive: true,
    arguments: { 'x-message-ttl': 3600_000, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': work },
  });
  const arrival = new EventEmitter();
  const arrived = once(arrival, 'message', { signal: AbortSignal.timeout(10_000) });
  await channel.consume(work, (m) => arrival.emit('message', m), { noAck: true });
  channel.sendToQueue(wait, Buffer.from('again'));
  await channel.waitForConfirms();

  await advance('59m59s');
  assert.equal((await channel.checkQueue(wait)).messageCount, 1);
  await advance('1s');
  const [message] = await arrived;
  assert.equal(message.content.toString(), 'again');
  assert.equal((await channel.checkQueue(wait)).messageCount, 0);
  await connection.close();
}

main(...process.argv.slice(2)).then(
  () => console.log('amqplib: an hour has passed'),
  (err) => { console.error(err); process.exit(1); },
);
