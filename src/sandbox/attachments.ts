import { attachActs } from './acts/perform-act.js';
import { attachDeliveries } from './deliveries/attach.js';
import { attachFeed } from './feed/attach.js';
import { followMirrors } from './make/follow-mirrors.js';
import { followPulls } from './make/follow-pulls.js';
import type { Attachment } from './parts.js';
import { startWorkflows } from './workflows/start-workflows.js';

/**
 * A new companion of the server is one file and one line here; they hear of acts in this order. Those that only tell stand first: what
 * the others do in answer to an act is told after the act itself.
 */
export const attachments: readonly Attachment[] = [attachActs, attachFeed, attachDeliveries, followPulls, startWorkflows, followMirrors];
