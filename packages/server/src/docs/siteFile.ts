import { createHash } from 'node:crypto'

/** Something the site answers with. */
export interface SiteFile {
  readonly type: string
  readonly body: Buffer
  /** Changes with the content. */
  readonly version: string
}

const VERSION_CHARS = 16

export function siteFile(type: string, text: string): SiteFile {
  const body = Buffer.from(text)
  const version = createHash('sha256').update(body).digest('base64url').slice(0, VERSION_CHARS)
  return { type: `${type}; charset=utf-8`, body, version }
}
