import { isJsonObject, type Json } from '../../core/json.js';
import type { Operation } from '../define-operation.js';
import type { ReplyInfo } from '../forge-client.js';
import type { WireReply } from './transport.js';

/** Total and length of a list answer, before null entries were skipped. */
export function replyInfo(operation: Operation, reply: WireReply, json: Json | undefined): ReplyInfo {
  const list = operation.list === undefined ? json : isJsonObject(json) ? json[operation.list] : undefined;
  const header = reply.headers['x-total-count'];
  const told = isJsonObject(json) ? json['total_count'] : undefined;
  const totalCount =
    header !== undefined && /^\d{1,15}$/.test(header) ? Number(header) : typeof told === 'number' ? told : null;
  const listed = Array.isArray(list) ? list.length : operation.list !== undefined ? 0 : null;
  return { status: reply.status, totalCount, listed, date: readDate(reply.headers['date']) };
}

function readDate(header: string | undefined): Date | null {
  const ms = header === undefined ? NaN : Date.parse(header);
  return Number.isNaN(ms) ? null : new Date(ms);
}
