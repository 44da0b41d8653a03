import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { fsyncSync, rmSync, statSync } from 'node:fs';
import { messageOf } from '../../core/errors.js';
import { FlushFailed, codeOf, flushFolder, offersNoFolderFlush } from '../../platform/flush.js';

/** The PostgreSQL of the embedded store, wherever it runs. There is one session, and one order at a time is carried out. */
export interface EmbeddedBackend {
  readonly closed: boolean;
  /**
   * Whole messages of the wire protocol; what they are answered with, in order.
   * @param bytes the caller has them no more
   */
  exchange(bytes: Uint8Array): Promise<readonly Uint8Array[]>;
  exec(sql: string): Promise<void>;
  /** The data directory as a gzipped tar. */
  dump(): Promise<Blob>;
  /** Checkpoint, and close. */
  close(): Promise<void>;
}

/** In the thread that asks. */
export class PgliteBackend implements EmbeddedBackend {
  private isBroken = false;

  constructor(private readonly pglite: PGlite) {}

  get closed(): boolean {
    return this.pglite.closed || this.isBroken;
  }

  async exchange(bytes: Uint8Array): Promise<readonly Uint8Array[]> {
    const answers: Uint8Array[] = [];
    // The view given to onRawData is only good during the call: copy it.
    try {
      await this.pglite.runExclusive(() =>
        this.pglite.execProtocolRawStream(bytes, { onRawData: (data) => void answers.push(data.slice()) }),
      );
    } catch (error) {
      // Errors of statements are answers. This one ended the engine: it is opened anew, and recovers from its log.
      this.isBroken = true;
      throw Object.assign(new Error(`the engine of the embedded store ended: ${messageOf(error)}`), {
        code: 'ECONNRESET',
      });
    }
    return answers;
  }

  async exec(sql: string): Promise<void> {
    await this.pglite.exec(sql);
  }

  dump(): Promise<Blob> {
    return this.pglite.dumpDataDir('gzip');
  }

  async close(): Promise<void> {
    if (this.closed) return;
    await this.pglite.exec('CHECKPOINT');
    await this.pglite.close();
  }
}

/** The part of the engine's file system (Emscripten's NODEFS) that is used here. */
interface EngineModule {
  readonly NODEFS: {
    readonly stream_ops: {
      fsync?: (stream: EngineStream) => number;
      open(stream: EngineStream): void;
      setattr(stream: EngineStream, attributes: EngineAttributes): void;
    };
    readonly node_ops: {
      mknod(parent: EngineNode, name: string, mode: number, dev: number): EngineNode;
      setattr(node: EngineNode, attributes: EngineAttributes): void;
    };
    realPath(node: EngineNode): string;
  };
  readonly FS: {
    isDir(mode: number): boolean;
    /** @throws where it knows none */
    lookupNode(parent: EngineNode, name: string): EngineNode;
    hashRemoveNode(node: EngineNode): void;
  };
}

interface EngineAttributes {
  mode?: number;
}

interface EngineNode {
  readonly mode: number;
  readonly parent: EngineNode;
}

interface EngineStream {
  /** The descriptor of the system behind the engine's. */
  readonly nfd: number;
  readonly node: EngineNode;
}

/** Number of EINVAL in the engine's C library: the engine goes on when a folder answers it. */
const EINVAL = 28;

/**
 * What the engine is started with so that each commit waits for a flush: `-F`, which PGlite gives it, would switch fsync off. The engine's
 * fdatasync, its default for the log, does nothing under Emscripten; its fsync calls `fsync` of the stream.
 */
export const FLUSHING: readonly string[] = ['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'];

/**
 * A folder as the engine's file system. No file in it is open to more people than the folder is: the engine gives some a mode of their own. And a file
 * that could not be made (no descriptor or no room left) leaves nothing behind: Emscripten keeps its name, and says "File exists" ever after.
 */
export class PrivateFiles extends NodeFS {
  override async init(pglite: PGlite, options: Parameters<NodeFS['init']>[1]): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pglite, options);
    const before = emscriptenOpts.preRun;
    const preRun = Array.isArray(before) ? before : before ? [before] : [];
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [...preRun, (module: unknown) => this.adapt(module as EngineModule)],
      },
    };
  }

  protected adapt({ NODEFS, FS }: EngineModule): void {
    const allowed = statSync(this.rootDir).mode & 0o777;
    const narrow = ({ mode, ...others }: EngineAttributes): EngineAttributes =>
      mode === undefined ? others : { ...others, mode: mode & (~0o777 | allowed) };
    const { setattr, mknod } = NODEFS.node_ops;
    const { open, setattr: setattrOfStream } = NODEFS.stream_ops;
    NODEFS.node_ops.setattr = (node, attributes) => setattr(node, narrow(attributes));
    NODEFS.stream_ops.setattr = (stream, attributes) => setattrOfStream(stream, narrow(attributes));
    /** Made by the `open` that is under way. */
    let made: EngineNode | null = null;
    NODEFS.node_ops.mknod = (parent, name, mode, dev) => {
      try {
        made = mknod(parent, name, mode, dev);
        return made;
      } catch (error) {
        FS.hashRemoveNode(FS.lookupNode(parent, name));
        throw error;
      }
    };
    NODEFS.stream_ops.open = (stream) => {
      const isMade = stream.node === made;
      made = null;
      try {
        open(stream);
      } catch (error) {
        if (isMade) {
          rmSync(NODEFS.realPath(stream.node), { force: true });
          FS.hashRemoveNode(stream.node);
        }
        throw error;
      }
    };
  }
}

/**
 * With a flush that reaches the disk for every file and folder that the engine names. Emscripten's
 * NODEFS has none and reports success. The first flush of a new file flushes the folder that it is in too: the engine counts on file systems that keep
 * the name of a flushed file, which POSIX does not promise.
 */
export class FlushingFiles extends PrivateFiles {
  /** @param onFailure told before the engine learns of it, which then has no way to go on */
  constructor(
    dataDir: string,
    private readonly onFailure: (error: FlushFailed) => never,
  ) {
    super(dataDir);
  }

  protected override adapt(module: EngineModule): void {
    super.adapt(module);
    const { NODEFS, FS } = module;
    const isNew = new WeakSet<EngineNode>();
    const make = NODEFS.node_ops.mknod;
    NODEFS.node_ops.mknod = (...args) => {
      const node = make(...args);
      isNew.add(node);
      return node;
    };
    NODEFS.stream_ops.fsync = ({ nfd, node }) => {
      try {
        fsyncSync(nfd);
        if (isNew.delete(node)) flushFolder(NODEFS.realPath(node.parent));
        return 0;
      } catch (error) {
        if (error instanceof FlushFailed) return this.onFailure(error);
        if (FS.isDir(node.mode) && offersNoFolderFlush(error)) return EINVAL;
        return this.onFailure(new FlushFailed(NODEFS.realPath(node), codeOf(error)));
      }
    };
  }
}
