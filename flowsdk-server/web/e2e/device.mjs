import assert from 'node:assert/strict';
import { io } from 'socket.io-client';

/** A second device of the visitor, without a page. */
export async function device(chatUrl, identity, waitMs = 15_000) {
  const url = new URL(chatUrl);
  const channelId = decodeURIComponent(url.pathname.split('/').filter(Boolean).at(-1));
  const socket = io(url.origin, {
    path: '/webchat/socket.io',
    transports: ['websocket'],
    forceNew: true,
    auth: { channelId, ...identity },
  });
  const heard = [];
  socket.on('message', (message, ack) => {
    heard.push(message.text?.body ?? message.interactive?.body?.text);
    if (typeof ack === 'function') ack({ ok: true });
  });
  await new Promise((resolve, reject) => {
    socket.once('auth_ok', resolve);
    socket.once('auth_error', (error) => reject(new Error(`second device refused: ${error.code}`)));
    setTimeout(() => reject(new Error('second device: no answer')), waitMs).unref();
  });
  return {
    async say(text) {
      const ack = await socket.timeout(waitMs).emitWithAck('message', { text });
      assert.equal(ack?.ok, true);
    },
    async choose(choice) {
      const ack = await socket.timeout(waitMs).emitWithAck('message_interactive', choice);
      assert.equal(ack?.ok, true);
    },
    async until(text) {
      const end = Date.now() + waitMs;
      while (!heard.includes(text)) {
        assert.ok(Date.now() < end, `second device never heard "${text}"`);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    },
    close: () => socket.disconnect(),
  };
}
