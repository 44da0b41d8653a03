/** The request as read, before anybody knows what it asks for. */
export interface RawRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  rawQuery: string;
  headers: Record<string, string>;
  body: Buffer;
  isTooLarge: boolean;
}
