// The least that Node can do for the same answer: reads the body, parses it, sends bytes that are there already.
import { readFileSync } from 'node:fs';
import http from 'node:http';

const answer = readFileSync(process.argv[2]);
const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
