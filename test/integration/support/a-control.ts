import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { CurrentControl } from '../../../src/api/current-control.js';
import type { Control } from '../../../src/api/operations/index.js';
import { AppModule } from '../../../src/app.module.js';
import type { AppConfig } from '../../../src/config/app-config.js';
import { ThisProcess } from '../../../src/config/this-process.js';
import { silentLogger } from '../../../src/core/logger.js';
import { Opened } from '../../../src/platform/opened.js';
import { OpenStore } from '../../../src/store/store-ports.js';
import { webhookAdapter } from '../../../src/webhooks/webhook-adapter.js';

import { keepStatements, watchMethods, watchStatements } from '../../storms/statements/record.js';

/** A class, which stands for itself. */
type Token<Part> = abstract new (...args: never[]) => Part;

export interface TestControl {
  readonly control: Control;
  part<Part>(token: Token<Part>): Part;
  close(): Promise<void>;
}

/** The operations as their handlers are, over real stores, for callers of any kind; and any other part. No loop runs beside them. */
export async function aControl(config: AppConfig): Promise<TestControl> {
  watchStatements();
  const opened = new Opened(silentLogger);
  const process = new ThisProcess('worker', 'command');
  const modules = await AppModule.of({ config, process, logger: silentLogger, opened });
  const app = await NestFactory.create<NestFastifyApplication>(modules, webhookAdapter(config.server), {
    logger: false,
    abortOnError: false,
  });
  await app.init();
  const stores = app.get<OpenStore>(OpenStore as Type<OpenStore>);
  watchMethods(stores);
  const control = app.get(CurrentControl).service;
  if (!control) throw new Error('the control operations were not made');
  return {
    control,
    part: <Part>(token: Token<Part>) => app.get<Part>(token as Type<Part>),
    close: async () => {
      if (config.store.kind === 'postgres') await keepStatements(stores.dataSource);
      await app.close();
      await opened.close();
    },
  };
}
