import { defineOperation } from '../define-operation.js';
import { apiSettings, serverVersion } from '../../core/objects/repositories.js';

export const serverOperations = {
  getVersion: defineOperation({
    method: 'GET',
    path: '/version',
    result: serverVersion,
    success: [200],
    scope: 'none',
    retry: 'read',
    summary: 'Get the version of the server',
  }),
  getApiSettings: defineOperation({
    method: 'GET',
    path: '/settings/api',
    result: apiSettings,
    success: [200],
    scope: 'none',
    retry: 'read',
    summary: 'Get page sizes and limits of the server',
  }),
} as const;
