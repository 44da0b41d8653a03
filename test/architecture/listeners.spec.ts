import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** The only files that may make a server, and where its limits of connections, times and bytes come from. */
const LIMITED_BY: Record<string, string> = {
  'cli/init/own-address.ts': 'it only asks whether a port is free, and closes at once',
  'platform/limited-fastify.ts': 'every listener with routes is made here',
  'platform/limited-server.ts': 'every listener without a framework is made here',
  'webhooks/webhook-adapter.ts': 'fastifyLimits(), ServerSockets and UnverifiedBytes',
};
const MAKES =
  /\bcreate(?:Secure)?Server\(|\b[Ff]astify(?:<[^()]*>)?\(|\bnew (?:\w+\.)?Server\(|\b(?:new|extends) FastifyAdapter\b|\bnew ExpressAdapter\b/;
/** Fastify under whatever name, as a value. */
const IMPORTS =
  /^import (?!type\b)(?!\{\s*type\b)[^;]*from '(?:fastify|express|@nestjs\/platform-\w+|ws|http2-wrapper|node:http2)'/m;

const makers = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => /(?<!\.spec|\.d)\.tsx?$/.test(name))
  .filter((name) => {
    const text = readFileSync(join('src', name), 'utf8');
    return MAKES.test(text) || IMPORTS.test(text);
  });

describe('architecture/listeners', () => {
  it('are made by what limits them', () => {
    expect(makers.sort()).toEqual(Object.keys(LIMITED_BY).sort());
  });

  it.each([
    ['createServer((request, response) => {})'],
    ['http.createServer(options)'],
    ['createSecureServer({})'],
    ['const app = fastify({ logger: false })'],
    ['Fastify()'],
    ['new http.Server()'],
    ['new Server(listener)'],
    ['new FastifyAdapter({})'],
    ['class Mine extends FastifyAdapter {'],
  ])('finds %s', (text) => expect(text).toMatch(MAKES));

  it.each([
    ["import make from 'fastify';", true],
    ["import Fastify, { type FastifyInstance } from 'fastify';", true],
    ["import { FastifyAdapter as Other } from '@nestjs/platform-fastify';", true],
    ["import type { FastifyInstance } from 'fastify';", false],
  ])('finds %s: %s', (text, isFound) => expect(IMPORTS.test(text)).toBe(isFound));
});
