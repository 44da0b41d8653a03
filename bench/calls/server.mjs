// Answers as a forge does to the two calls that are measured, and does nothing else.
import { createServer } from 'node:http';

const label = (id) => ({
  id,
  name: `label-${id}`,
  color: '00aabb',
  description: '',
  exclusive: false,
  is_archived: false,
  url: `http://forge.test/api/v1/repos/acme/app/labels/${id}`,
});
const LIST = JSON.stringify([label(1), label(2)]);
const MADE = JSON.stringify(label(3));

const server = createServer((request, response) => {
  const isWrite = request.method === 'POST';
  request.resume().on('end', () => {
    const body = isWrite ? MADE : LIST;
    response.writeHead(isWrite ? 201 : 200, {
      'Content-Type': 'application/json;charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      ...(isWrite ? {} : { 'X-Total-Count': '2', 'Access-Control-Expose-Headers': 'X-Total-Count' }),
      'Cache-Control': 'max-age=0, private, must-revalidate, no-transform',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'SAMEORIGIN',
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
