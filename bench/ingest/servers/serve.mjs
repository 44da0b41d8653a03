/** What the hand-written servers share: listen on a free port of 127.0.0.1, say which, end when told. */
export function serve(server, close = async () => {}) {
  server.listen(0, '127.0.0.1', () => console.log(`listening ${server.address().port}`));
  process.once('SIGTERM', () => {
    server.closeAllConnections();
    server.close(() => void close().then(() => process.exit(0)));
  });
}
