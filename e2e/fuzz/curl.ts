import type { FuzzRequest } from './dressRequest.ts'

/** Returns the command that sends the same request again. A signature is valid for half a minute, a nonce once. */
export function curlOf(url: string, { method, target, headers, body }: FuzzRequest): string {
  const shown = headers.map(([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`)
  const command = ['curl', '-i', '-g', '--path-as-is', '-X', method, ...shown, quoted(url + target)]
  if (body === undefined) return command.join(' ')
  const text = Buffer.from(body).toString()
  // Bodies that are not plain text, or too odd for a shell, go through base64.
  if (/^[\x20-\x7e]*$/.test(text)) return [...command, '--data-binary', quoted(text)].join(' ')
  return `base64 -d <<< ${Buffer.from(body).toString('base64')} | ${command.join(' ')} --data-binary @-`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
