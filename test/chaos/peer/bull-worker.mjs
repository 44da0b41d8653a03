// A bare Bull worker as people write it: one job, one POST. Default settings; it says "up" when it takes work.
import axios from 'axios';
import Bull from 'bull';

const { REDIS_URL, API_URL, TOKEN, CONCURRENCY = '20' } = process.env;
const queue = new Bull('effects', REDIS_URL);
const forge = axios.create({ baseURL: API_URL, headers: { authorization: `token ${TOKEN}` } });

void queue.process(Number(CONCURRENCY), async ({ data }) => {
  await forge.post(`/repos/acme/${data.repo}/labels`, { name: data.key, color: '#00aabb' });
});
await queue.isReady();
console.log('up');
