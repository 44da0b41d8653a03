import type { Attachment } from '../parts.js';
import { keepFeed } from './keep-feed.js';

export const attachFeed: Attachment = ({ world, profile }) => {
  keepFeed(world, profile.telling.feed);
  return undefined;
};
