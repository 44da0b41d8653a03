import { Module } from '@nestjs/common';
import { DecidingModule } from './deciding.module.js';
import { ExecutingModule } from './executing.module.js';
import { ReadingModule } from './reading.module.js';

/** From an arrival to the call it leads to: decide, execute, recover. */
@Module({
  exports: [ReadingModule, DecidingModule, ExecutingModule],
  imports: [ReadingModule, DecidingModule, ExecutingModule],
})
export class PipelineModule {}
