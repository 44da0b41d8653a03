import type { Attachment } from '../parts.js';
import { tellHooks } from './tell-hooks.js';

export const attachDeliveries: Attachment = (parts) => {
  tellHooks(parts, parts.deliveries);
  return { close: () => parts.deliveries.close() };
};
