import { silentLogger } from '../../core/logger.js';
import { embeddedDataSource } from '../data-source.js';
import { migrate } from '../migrate.js';
import { openEmbedded } from './open-embedded.js';
import { writeTemplate } from './template.js';

/** An empty store with today's tables as template for first starts. Takes some seconds and much memory: part of the build. */
export async function makeTemplate(): Promise<{ file: string; bytes: number }> {
  const embedded = await openEmbedded(':memory:', { template: false });
  const dataSource = await embeddedDataSource(embedded, silentLogger).initialize();
  await migrate(dataSource, { lock: false, logger: silentLogger, folder: null });
  await dataSource.query('CHECKPOINT');
  await dataSource.destroy();
  const template = await embedded.dump();
  await embedded.close();
  return { file: await writeTemplate(template), bytes: template.size };
}
