import { Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { CurrentControl } from '../api/current-control.js';
import { ActStore } from '../api/act-store.port.js';
import { SessionStore } from '../api/session-store.port.js';
import { AppConfig } from '../config/app-config.js';
import { ThisProcess } from '../config/this-process.js';
import { Clock } from '../core/clock.js';
import { Encryptor } from '../core/encryptor.js';
import { explainListenError } from '../core/explain-listen-error.js';
import { Logger } from '../core/logger.js';
import { part } from '../core/part.js';
import { SecurityLog } from '../core/security-log.js';
import { ForgeModule } from '../forge/forge.module.js';
import { PersonForges } from '../forge/oauth/person-forges.js';
import { OrgNumbers } from '../forge/org-numbers.js';
import { ConsoleServer } from './console-server.js';
import { liveActivity } from './live/live-activity.js';
import { GrantStore } from './login/grant-store.port.js';
import { PersonLogin } from './login/login.port.js';
import { PersonLogins } from './login/person-logins.js';
import { PAGES } from './pages/index.js';

/** Opens the Console when everything that it shows is there. An address that cannot be used ends the start, as with every listener. */
export class ConsoleListening implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private isListening = false;

  constructor(
    private readonly config: Pick<AppConfig, 'console'>,
    private readonly self: Pick<ThisProcess, 'places' | 'consoleUrl'>,
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

const PARTS = [
  part(
    PersonLogin,
    {
      config: AppConfig,
      numbers: OrgNumbers,
      grants: GrantStore,
      encryptor: Encryptor,
      clock: Clock,
      logger: Logger,
    },
    ({ config, numbers, ...deps }) =>
      new PersonLogins({ ...deps, forges: new PersonForges(config, numbers, deps.clock, deps.logger) }),
  ),
  part(
    ConsoleServer,
    {
      config: AppConfig,
      control: CurrentControl,
      store: SessionStore,
      acts: ActStore,
      login: PersonLogin,
      security: SecurityLog,
      clock: Clock,
      logger: Logger,
    },
    ({ config, control, ...deps }) =>
      new ConsoleServer({
        ...deps,
        config: config.console,
        trustedProxies: config.server.trustedProxies,
        control: () => control.service,
        pages: PAGES,
        live: liveActivity(
          () => control.service,
          PAGES.flatMap(({ timeline = [] }) => timeline),
        ),
      }),
  ),
  part(
    ConsoleListening,
    { config: AppConfig, self: ThisProcess, server: ConsoleServer },
    ({ config, self, server }) => new ConsoleListening(config, self, server),
  ),
];

/** The Console: pages over the control operations, for people with a browser. In the roles `console` and `all` alone. */
@Module({ imports: [ApiModule, ForgeModule], providers: PARTS })
export class ConsoleModule {}
