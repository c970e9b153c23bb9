// Publishes, consumes and dead-letters through the broker at the URL given, and fails if anything
// is not as it has to be:
//
//   npm ci && node roundtrip.js amqp://guest:guest@127.0.0.1:5672/
//
// It uses exclusive queues and an exchange of its own, so any RabbitMQ will do as well.
'use strict';

const assert = require('node:assert/strict');
const { once, EventEmitter } = require('node:events');
const amqp = require('amqplib');

const DLX = 'interop.node.dlx';

async function main(url) {
  const connection = await amqp.connect(url);
  const channel = await connection.createConfirmChannel();
  await channel.assertExchange(DLX, 'topic', { durable: false, autoDelete: true });
  const { queue: dead } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(dead, DLX, 'dead.#');

  await properties(channel);
  await rejected(channel, dead);
  await expired(channel, dead);
  await overflown(channel, dead);
  await returned(channel);
  await refused(connection);

  await channel.close();
  await connection.close();
}

// source declares a queue with the dead-letter exchange and the given arguments.
async function source(channel, reason, args) {
  const { queue } = await channel.assertQueue('', {
    exclusive: true,
    arguments: {
      'x-dead-letter-exchange': DLX,
      'x-dead-letter-routing-key': `dead.${reason}`,
      ...args,
    },
  });
  return queue;
}

async function publish(channel, queue, body, options) {
  channel.sendToQueue(queue, Buffer.from(body), options);
  await channel.waitForConfirms();
}

// next resolves to the next message of a queue, by a consumer.
async function next(channel, queue) {
  const arrival = new EventEmitter();
  const arrived = once(arrival, 'message', { signal: AbortSignal.timeout(10_000) });
  const { consumerTag } = await channel.consume(queue, (m) => arrival.emit('message', m));
  const [message] = await arrived;
  await channel.cancel(consumerTag);
  return message;
}

// died takes the next dead letter and checks its history.
async function died(channel, dead, body, queue, reason) {
  const message = await next(channel, dead);
  assert.equal(message.content.toString(), body);
  assert.equal(message.fields.exchange, DLX);
  assert.equal(message.fields.routingKey, `dead.${reason}`);
  const { headers } = message.properties;
  assert.equal(headers['x-death'].length, 1);
  const [death] = headers['x-death'];
  assert.equal(death.queue, queue);
  assert.equal(death.reason, reason);
  assert.equal(death.count, 1);
  assert.equal(death.exchange, '');
  assert.deepEqual(death['routing-keys'], [queue]);
  assert.equal(death.time['!'], 'timestamp');
  assert.equal(headers['x-first-death-queue'], queue);
  assert.equal(headers['x-first-death-reason'], reason);
  assert.equal(headers['x-first-death-exchange'], '');
  channel.ack(message);
  return death;
}

async function properties(channel) {
  const { queue } = await channel.assertQueue('', { exclusive: true });
  const body = 'ü'.repeat(100_000); // more than one frame
  const headers = { text: 'ß', number: 7, fraction: 0.5, yes: true, list: [1, 'two'], table: { deep: { er: 1 } } };
  await publish(channel, queue, body, {
    headers, contentType: 'text/plain', correlationId: 'c', replyTo: 'r', messageId: 'm', type: 't', appId: 'a',
    persistent: true, priority: 3, timestamp: 1_700_000_000,
  });
  const message = await next(channel, queue);
  assert.equal(message.content.toString(), body);
  assert.deepEqual(message.properties.headers, headers);
  assert.equal(message.properties.contentType, 'text/plain');
  assert.equal(message.properties.correlationId, 'c');
  assert.equal(message.properties.deliveryMode, 2);
  assert.equal(message.properties.priority, 3);
  assert.equal(message.properties.timestamp, 1_700_000_000);
  assert.equal(message.fields.redelivered, false);
  channel.nack(message, false, true);
  const again = await next(channel, queue);
  assert.equal(again.fields.redelivered, true);
  channel.ack(again);
  assert.equal((await channel.checkQueue(queue)).messageCount, 0);
}

async function rejected(channel, dead) {
  const queue = await source(channel, 'rejected');
  await publish(channel, queue, 'one');
  channel.reject(await next(channel, queue), false);
  await died(channel, dead, 'one', queue, 'rejected');
}

async function expired(channel, dead) {
  const queue = await source(channel, 'expired', { 'x-message-ttl': 5000 });
  await publish(channel, queue, 'two', { expiration: '50' });
  const death = await died(channel, dead, 'two', queue, 'expired');
  assert.equal(death['original-expiration'], '50');
}

async function overflown(channel, dead) {
  const queue = await source(channel, 'maxlen', { 'x-max-length': 1 });
  await publish(channel, queue, 'three');
  await publish(channel, queue, 'four');
  await died(channel, dead, 'three', queue, 'maxlen');
  const { content } = await channel.get(queue, { noAck: true });
  assert.equal(content.toString(), 'four');
}

async function returned(channel) {
  const back = once(channel, 'return', { signal: AbortSignal.timeout(10_000) });
  channel.publish(DLX, 'nobody.listens', Buffer.from('five'), { mandatory: true });
  const [message] = await back;
  assert.equal(message.fields.replyCode, 312);
  assert.equal(message.fields.replyText, 'NO_ROUTE');
  await channel.waitForConfirms();
}

async function refused(connection) {
  const channel = await connection.createChannel();
  channel.on('error', () => {}); // the rejected promise tells the same
  await assert.rejects(channel.checkQueue('interop.node.missing'),
    /404.*NOT_FOUND - no queue 'interop\.node\.missing' in vhost '\/'/);
}

main(process.argv[2]).then(
  () => console.log('amqplib: everything as it has to be'),
  (err) => { console.error(err); process.exit(1); },
);
