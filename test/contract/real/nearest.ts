import type { Story } from '../story.js';

/** The recorded server whose answers a server of this version is held to: the same product, the nearest version (of two, the older). */
export function nearestServer(servers: readonly string[], family: 'gitea' | 'forgejo', version: string): string {
  const own = servers.filter((server) => server.startsWith(`${family} `)).sort((a, b) => lineOf(a) - lineOf(b));
  if (own.length === 0) throw new Error(`there are no recordings of ${family}`);
  const wanted = lineOf(version);
  // A build without a number is one of the newest.
  if (Number.isNaN(wanted)) return own.at(-1) as string;
  return own.reduce((best, server) =>
    Math.abs(lineOf(server) - wanted) < Math.abs(lineOf(best) - wanted) ? server : best,
  );
}

/** `gitea 1.27.0-rc0` -> 1027. */
function lineOf(version: string): number {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) * 1000 + Number(minor);
}

/** The stories as the nearest server answered them; a server tells its own version, whatever was recorded. */
export function storiesLike(stories: readonly Story[], family: 'gitea' | 'forgejo', version: string): Story[] {
  const server = nearestServer([...new Set(stories.map((story) => story.server))], family, version);
  return stories.filter((story) => story.server === server).map((story) => withVersion(story, version));
}

function withVersion(story: Story, version: string): Story {
  return {
    ...story,
    steps: story.steps.map((step) =>
      'request' in step && step.request.path === '/version' && step.response.status === 200
        ? { ...step, response: { ...step.response, body: { ...(step.response.body as object), version } } }
        : step,
    ),
  };
}
