import { get } from '../define-operation.js';
import { apiSettings, serverVersion } from '../../core/objects/repositories.js';

export const serverOperations = {
  getVersion: get('/version', { result: serverVersion, scope: 'none', summary: 'Get the version of the server' }),
  getApiSettings: get('/settings/api', {
    result: apiSettings,
    scope: 'none',
    summary: 'Get page sizes and limits of the server',
  }),
} as const;
