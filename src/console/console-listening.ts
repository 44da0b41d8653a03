import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { explainListenError } from '../platform/explain-listen-error.js';
import { ConsoleServer } from './console-server.js';

/** Opens the Console when everything that it shows is there. An address that cannot be used ends the start, as with every listener. */
@Injectable()
export class ConsoleListening implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private isListening = false;

  constructor(
    private readonly config: AppConfig,
    private readonly self: ThisProcess,
    private readonly server: ConsoleServer,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { enabled, listen } = this.config.console;
    if (!enabled) return;
    const url = await this.server.listen().catch((error: unknown) => {
      throw explainListenError(error, 'the Console', listen, 'console.listen');
    });
    this.isListening = true;
    this.self.consoleUrl = url;
    this.self.places.push(`console ${url}`);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.self.consoleUrl = null;
    if (this.isListening) await this.server.close();
  }
}
