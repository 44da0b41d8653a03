import { Module } from '@nestjs/common';
import { ApiModule } from '../api/api.module.js';
import { ForgeModule } from '../forge/forge.module.js';
import { PersonForges } from '../forge/oauth/person-forges.js';
import { ConsoleListening } from './console-listening.js';
import { ConsoleServer } from './console-server.js';
import { PersonLogin } from './login/login.port.js';
import { PersonLogins } from './login/person-logins.js';

/** The Console: pages over the control operations, for people with a browser. In the roles `console` and `all` alone. */
@Module({
  imports: [ApiModule, ForgeModule],
  providers: [PersonForges, { provide: PersonLogin, useClass: PersonLogins }, ConsoleServer, ConsoleListening],
})
export class ConsoleModule {}
