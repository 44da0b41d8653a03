import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket, createSecureContext, type SecureContextOptions } from 'node:tls';

/** What the server does in place of its usual answer to a command: this answer, or (`cut`) the end of the connection. */
export type SmtpFault = string | 'cut';

export interface SmtpServer {
  readonly port: number;
  /** Every line of the client, but those of a text. */
  readonly commands: string[];
  /** Texts that were taken, as they came over the wire. */
  readonly taken: Array<{ to: string[]; text: string; secure: boolean }>;
  /** By command (`CONNECT`, `EHLO`, `STARTTLS`, `AUTH`, `MAIL`, `RCPT <ann@example.org>`, `DATA`, `TEXT`); `TEXT` = after the text, which `keeps` it or not. */
  readonly faults: Map<string, SmtpFault>;
  /** Whether a text that has a fault is taken all the same. */
  keeps: boolean;
  /** Whether STARTTLS is offered. */
  offersTls: boolean;
  close(): Promise<void>;
}

/** A mail server on a port of 127.0.0.1 (RFC 5321 with STARTTLS and AUTH PLAIN), which fails where the test says. */
export async function startSmtpServer(tls: SecureContextOptions, isSecure = false): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const context = createSecureContext(tls);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    if (isSecure) talk(encrypted(socket), true, true);
    else talk(socket, false, true);
  });
  const encrypted = (socket: Socket): Socket =>
    new TLSSocket(socket, { isServer: true, secureContext: context }).on('error', () => undefined);

  function talk(socket: Socket, secure: boolean, greets: boolean): void {
    let rest = '';
    let text: string[] | null = null;
    let to: string[] = [];
    const answer = (command: string, usual: string): boolean => {
      const fault = smtp.faults.get(command);
      if (fault === 'cut') socket.destroy();
      else socket.write(`${fault ?? usual}\r\n`);
      return fault === undefined;
    };
    const onLine = (line: string): void => {
      if (text !== null) {
        if (line !== '.') return void text.push(line);
        if (!smtp.faults.has('TEXT') || smtp.keeps) smtp.taken.push({ to, text: text.join('\r\n'), secure });
        text = null;
        return void answer('TEXT', '250 taken');
      }
      smtp.commands.push(line);
      const [, word = '', argument = ''] = /^(\w+)[ :]?(.*)$/.exec(line) ?? [];
      if (word === 'EHLO')
        answer('EHLO', `250-mail${smtp.offersTls && !secure ? '\r\n250-STARTTLS' : ''}\r\n250 AUTH PLAIN`);
      else if (word === 'STARTTLS' && !smtp.offersTls) socket.write('502 no\r\n');
      else if (word === 'STARTTLS') {
        if (!answer('STARTTLS', '220 go on')) return;
        socket.removeAllListeners('data');
        talk(encrypted(socket), true, false);
      } else if (word === 'AUTH') answer('AUTH', '235 welcome');
      else if (word === 'MAIL') {
        to = [];
        answer('MAIL', '250 ok');
      } else if (word === 'RCPT') {
        const [, address = ''] = /<(.*)>/.exec(argument) ?? [];
        if (answer(`RCPT <${address}>`, '250 ok')) to.push(address);
      } else if (word === 'DATA') text = answer('DATA', '354 go on') ? [] : null;
      else if (word === 'QUIT') socket.end('221 bye\r\n');
      else socket.write('500 what?\r\n');
    };
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('utf8')).split('\r\n');
      rest = lines.pop() ?? '';
      lines.forEach(onLine);
    });
    if (greets) answer('CONNECT', '220 mail');
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const smtp: SmtpServer = {
    port: (server.address() as AddressInfo).port,
    commands: [],
    taken: [],
    faults: new Map(),
    keeps: true,
    offersTls: true,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return smtp;
}
