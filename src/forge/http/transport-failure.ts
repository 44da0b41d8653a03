/** No usable answer came. `reached` says whether a byte of the request may have got to the forge. Carries no request, no headers. */
export class TransportFailure extends Error {
  constructor(
    readonly reached: 'not-sent' | 'unknown',
    readonly detail: 'connection' | 'deadline' | 'stopped' | 'cut' | 'too-large' | 'proxy',
    message: string,
    /** The kept-alive connection had been closed by the server: a read may be made once more. */
    readonly stale = false,
  ) {
    super(message);
  }
}
