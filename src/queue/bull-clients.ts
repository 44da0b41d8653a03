import { Redis, type Command } from 'ioredis';
import type { Secret } from '../core/secret.js';
import { cutRedis, giveUpSilent, redisOptions } from './redis-options.js';

/**
 * The connections of Bull's queues, made and ended by us. Bull waits for them in promises that it hands to nobody (`setHandler` calls `setWorkerName`, and
 * @nestjs/bull calls `process`): one that is rejected would end the process.
 */
export class BullClients {
  private readonly all: Redis[] = [];

  constructor(private readonly url: Secret) {}

  make(type: 'client' | 'subscriber' | 'bclient'): Redis {
    // Bull takes no other setting for those that wait.
    const client = giveUpSilent(
      new BullClient({
        ...redisOptions(this.url),
        ...(type === 'client' ? {} : { maxRetriesPerRequest: null }),
      }),
    );
    this.all.push(client);
    return client;
  }

  /** From now on nobody hears that a connection ends: what waits for one that never came would be rejected. */
  letGo(): void {
    for (const client of this.all) client.removeAllListeners('end');
  }

  cut(): void {
    for (const client of this.all) cutRedis(client);
  }
}

class BullClient extends Redis {
  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const [{ name }] = args as [Command];
    const answer = super.sendCommand(...args);
    // Bull names its connections, for people's eyes; whether Redis lets it is nobody's concern.
    return name === 'client' && answer instanceof Promise ? answer.catch(() => undefined) : answer;
  }
}
