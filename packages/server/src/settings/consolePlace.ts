import { parseServerUrl, type Setting } from '@bezel/protocol'

/** Place of the console: on this service, nowhere, or at another origin, to which browsers are led. */
export type ConsolePlace = 'on' | 'off' | { readonly origin: string }

export const CONSOLE_SETTING: Setting<ConsolePlace> = {
  what: 'console, the web page for traders at /: on, off, or the origin of one that is served elsewhere',
  defaultText: 'on',
  defaultValue: 'on',
  allowed: 'on, off, or an http or https origin without a path',
  parse: (text) => {
    if (text === 'on' || text === 'off') return text
    const origin = parseServerUrl(text)
    return origin !== undefined && origin === URL.parse(origin)?.origin ? { origin } : undefined
  },
}
