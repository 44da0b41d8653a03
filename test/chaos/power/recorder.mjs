// Preloaded into every thread of a process (`node --import`): writes down, in order, what is done to the files below POWER_ROOT, into the file
// POWER_JOURNAL. From that record every state can be rebuilt that a disk could have after a power cut. Nothing of the program is changed by it.
//
// A record is a length (4 bytes), a header in JSON of that length, and `bytes` bytes of data. A call is written down once it is over, so that what
// follows a flush in the record happened after it.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve } from 'node:path';
import { threadId } from 'node:worker_threads';

const root = process.env['POWER_ROOT'];
const journal = fs.openSync(process.env['POWER_JOURNAL'], 'a');
const given = { ...fs };
/** A call of the system that Node makes of others, which are not to be recorded as well. */
let isInner = false;
const real = Object.fromEntries(
  Object.entries(given).map(([name, call]) => [name, name.endsWith('Sync') ? inner(call) : call]),
);
/** Of every descriptor below the root: what the record calls it. */
const open = new Map();
let lastHandle = 0;

function inner(call) {
  return (...args) => {
    const before = isInner;
    isInner = true;
    try {
      return call(...args);
    } finally {
      isInner = before;
    }
  };
}

function record(header, data = null) {
  const text = Buffer.from(JSON.stringify({ ...header, at: Date.now(), bytes: data ? data.byteLength : 0 }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  real.writeSync(journal, Buffer.concat(data ? [length, text, data] : [length, text]));
}

const isOurs = (path) =>
  !isInner && typeof path === 'string' && (resolve(path) === root || resolve(path).startsWith(`${root}/`));
const bytesOf = (data, encoding) =>
  typeof data === 'string'
    ? Buffer.from(data, encoding ?? 'utf8')
    : Buffer.from(data.buffer, data.byteOffset, data.byteLength);

function opened(descriptor, path, existed) {
  const handle = `${process.pid}-${threadId}-${(lastHandle += 1)}`;
  open.set(descriptor, handle);
  record({
    op: 'open',
    path: resolve(path),
    handle,
    size: real.fstatSync(descriptor).size,
    isNew: !existed,
    isFolder: real.fstatSync(descriptor).isDirectory(),
  });
}

function made(path, mode) {
  const first = real.mkdirSync(path, mode);
  if (typeof mode !== 'object' || !mode.recursive) record({ op: 'mkdir', path: resolve(path) });
  else if (first !== undefined) {
    const all = [];
    for (let folder = resolve(path); folder.length >= first.length; folder = join(folder, '..')) all.unshift(folder);
    for (const folder of all) if (isOurs(folder)) record({ op: 'mkdir', path: folder });
  }
  return first;
}

fs.mkdirSync = (path, mode) => (isOurs(path) ? made(path, mode) : real.mkdirSync(path, mode));
fs.openSync = (path, flags, mode) => {
  if (!isOurs(path)) return real.openSync(path, flags, mode);
  const existed = real.existsSync(path);
  const descriptor = real.openSync(path, flags, mode);
  opened(descriptor, path, existed);
  return descriptor;
};
fs.closeSync = (descriptor) => {
  open.delete(descriptor);
  return real.closeSync(descriptor);
};
fs.writeSync = (descriptor, data, offset, length, position) => {
  const handle = isInner ? undefined : open.get(descriptor);
  if (handle === undefined) return real.writeSync(descriptor, data, offset, length, position);
  if (typeof position !== 'number') throw new Error('the recorder knows writes with a position alone');
  const written = real.writeSync(descriptor, data, offset, length, position);
  record({ op: 'write', handle, position }, Buffer.from(data.buffer, data.byteOffset + offset, written));
  return written;
};
fs.ftruncateSync = (descriptor, length = 0) => {
  real.ftruncateSync(descriptor, length);
  const handle = open.get(descriptor);
  if (handle !== undefined) record({ op: 'size', handle, length });
};
fs.truncateSync = (path, length = 0) => {
  real.truncateSync(path, length);
  if (isOurs(path)) record({ op: 'size', path: resolve(path), length });
};
fs.fsyncSync = (descriptor) => {
  real.fsyncSync(descriptor);
  const handle = open.get(descriptor);
  if (handle !== undefined) record({ op: 'flush', handle });
};
fs.writeFileSync = (path, data, options) => {
  if (!isInner && open.has(path)) throw new Error('the recorder knows a whole file by its path alone');
  if (!isOurs(path)) return real.writeFileSync(path, data, options);
  const existed = real.existsSync(path);
  real.writeFileSync(path, data, options);
  if (!existed) record({ op: 'create', path: resolve(path) });
  const bytes = bytesOf(data);
  record({ op: 'size', path: resolve(path), length: 0 });
  record({ op: 'write', path: resolve(path), position: 0 }, bytes);
  if (options?.flush) record({ op: 'flush', path: resolve(path) });
};
fs.renameSync = (from, to) => {
  real.renameSync(from, to);
  if (isOurs(from)) record({ op: 'rename', path: resolve(from), to: resolve(to) });
};
fs.linkSync = (from, to) => {
  real.linkSync(from, to);
  if (isOurs(from)) record({ op: 'link', path: resolve(from), to: resolve(to) });
};
fs.unlinkSync = (path) => {
  real.unlinkSync(path);
  if (isOurs(path)) record({ op: 'remove', path: resolve(path) });
};
fs.rmdirSync = (path, options) => {
  real.rmdirSync(path, options);
  if (isOurs(path)) record({ op: 'remove', path: resolve(path) });
};
fs.rmSync = (path, options) => {
  const existed = real.existsSync(path);
  real.rmSync(path, options);
  if (isOurs(path) && existed) record({ op: 'remove', path: resolve(path) });
};

const { promises } = fs;
const openAsync = promises.open.bind(promises);
const prototype = await openAsync(process.execPath, 'r').then(async (file) => {
  await file.close();
  return Object.getPrototypeOf(file);
});
/** Of every file handle: what the record calls it. */
const handles = new WeakMap();
const givenOf = Object.fromEntries(
  ['appendFile', 'sync', 'datasync', 'truncate'].map((name) => [name, prototype[name]]),
);

promises.open = async (path, flags, mode) => {
  const existed = isOurs(path) && real.existsSync(path);
  const file = await openAsync(path, flags, mode);
  if (isOurs(path)) {
    const handle = `${process.pid}-${threadId}-${(lastHandle += 1)}`;
    handles.set(file, handle);
    record({
      op: 'open',
      path: resolve(path),
      handle,
      size: (await file.stat()).size,
      isNew: !existed,
      isFolder: false,
    });
  }
  return file;
};
prototype.appendFile = async function (data, options) {
  const handle = handles.get(this);
  const position = handle === undefined ? 0 : (await this.stat()).size;
  await givenOf.appendFile.call(this, data, options);
  if (handle !== undefined) record({ op: 'write', handle, position }, bytesOf(data, options));
};
prototype.truncate = async function (length = 0) {
  await givenOf.truncate.call(this, length);
  const handle = handles.get(this);
  if (handle !== undefined) record({ op: 'size', handle, length });
};
for (const name of ['sync', 'datasync']) {
  prototype[name] = async function () {
    await givenOf[name].call(this);
    const handle = handles.get(this);
    if (handle !== undefined) record({ op: 'flush', handle });
  };
}
for (const name of ['mkdir', 'rm', 'rename', 'writeFile']) {
  const givenAsync = promises[name].bind(promises);
  const sync = { mkdir: fs.mkdirSync, rm: fs.rmSync, rename: fs.renameSync, writeFile: fs.writeFileSync }[name];
  promises[name] = async (path, ...rest) => (isOurs(path) ? sync(path, ...rest) : givenAsync(path, ...rest));
}
syncBuiltinESMExports();
