import { attachActs } from './acts/perform-act.js';
import { attachDeliveries } from './deliveries/attach.js';
import { attachFeed } from './feed/org-feed.js';
import { followPulls } from './resources/pull.js';
import { followMirrors } from './resources/push-mirror.js';
import type { Attachment } from './parts.js';
import { startWorkflows } from './workflows/start-workflows.js';

/**
 * A new companion of the server is one file and one line here; they hear of acts in this order. Those that only tell stand first: what
 * the others do in answer to an act is told after the act itself.
 */
export const attachments: readonly Attachment[] = [attachActs, attachFeed, attachDeliveries, followPulls, startWorkflows, followMirrors];
