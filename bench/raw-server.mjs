// The least that Node can do for the same answer: reads the body, parses it, sends bytes that are there already. The files
// are its arguments, and the path says which: `/0` is the first.
import { readFileSync } from 'node:fs';
import http from 'node:http';

const answers = process.argv.slice(2).map((file) => readFileSync(file));
const server = http.createServer((request, response) => {
  const answer = answers[Number(request.url.slice(1))];
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
