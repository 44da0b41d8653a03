// A bare Bull worker as people write it: one job, one POST. Default settings; it says "up" when it takes work. With LOOKS=1 it makes the calls
// that we make: whose the repository is, and whether the label is there.
import axios from 'axios';
import Bull from 'bull';

const { REDIS_URL, API_URL, TOKEN, CONCURRENCY = '20', LOOKS } = process.env;
const queue = new Bull('effects', REDIS_URL);
const forge = axios.create({ baseURL: API_URL, headers: { authorization: `token ${TOKEN}` } });

void queue.process(Number(CONCURRENCY), async ({ data }) => {
  if (LOOKS) {
    await forge.get(`/repositories/${data.id}`);
    const { data: labels } = await forge.get(`/repos/acme/${data.repo}/labels`, { params: { page: 1, limit: 50 } });
    if (labels.some(({ name }) => name === data.key)) return;
  }
  await forge.post(`/repos/acme/${data.repo}/labels`, { name: data.key, color: '#00aabb' });
});
await queue.isReady();
console.log('up');
