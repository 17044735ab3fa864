import { connect, createServer } from 'node:net';

/**
 * A way to the page that can be cut like a cable. The browser's own offline switch leaves open
 * websockets alone, and the loss of exactly those is to be tried.
 */
export async function cuttable(target) {
  const url = new URL(target);
  if (url.protocol !== 'http:') throw new Error('only plain http can be cut');
  const sockets = new Set();
  let whole = true;
  const server = createServer((near) => {
    if (!whole) return near.destroy();
    const far = connect(Number(url.port || 80), url.hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const local = new URL(target);
  local.hostname = '127.0.0.1';
  local.port = String(server.address().port);
  const cut = () => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: local.href,
    cut,
    mend: () => {
      whole = true;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
