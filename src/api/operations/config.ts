import { z } from 'zod';
import { reloadReport } from '../../housekeeping/reload/reload-report.js';
import { needEverything } from './admission.js';
import { operation } from './operation.js';

export const configOperations = {
  reload: operation({
    route: 'POST /v1/config/reload',
    summary: 'Read the config files again and follow the organizations in them, in every process of the bot',
    scope: 'operate',
    about: [],
    command: 'reload',
    input: z.strictObject({}),
    answer: reloadReport,
    handle: ({ orders, reload }, _input, caller, visibility) => {
      needEverything(visibility);
      orders.record('reload', caller, {});
      return reload.everywhere();
    },
  }),
};
