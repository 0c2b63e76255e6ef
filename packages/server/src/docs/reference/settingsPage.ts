import { SERVER_SETTINGS } from '../../settings/config.ts'
import { table } from '../markdown/writeMarkdown.ts'

/** Returns docs/reference/settings.md. */
export function settingsPage(): string {
  const rows = Object.entries(SERVER_SETTINGS).map(([name, { what, defaultText = 'none', defaultValue, allowed }]) => [
    `\`${name}\``,
    what,
    // A default that is a value can be copied; any other is a description of one.
    defaultValue === undefined ? defaultText : `\`${defaultText}\``,
    allowed,
  ])
  return `${HEAD}\n\n${table(['Setting', 'Purpose', 'Default', 'Allowed'], rows)}\n`
}

const HEAD = `# Settings

Made from the list of settings in \`packages/server/src/settings/config.ts\` by \`npm run reference\`.

Every setting of the service is an environment variable. An empty one counts as not set. With a name that starts with \`BEZEL_\` and is no setting, or a value that is not allowed, the service refuses to start and says
which one it is. [Operations](../operations.md) says what the settings are for, [the local chain](../local-chain.md#settings) has those of the sandbox, and the [command line](../../packages/cli/README.md) its own.`
