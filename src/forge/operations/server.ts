import { operationsOf } from '../define-operation.js';
import { apiSettings, serverVersion } from '../../core/objects/repositories.js';

const { get } = operationsOf('none');

export const serverOperations = {
  getVersion: get('/version', { result: serverVersion, summary: 'Get the version of the server' }),
  getApiSettings: get('/settings/api', { result: apiSettings, summary: 'Get page sizes and limits of the server' }),
} as const;
