import packageJson from '../package.json' with { type: 'json' }

/** Of this command line. */
export const VERSION: string = packageJson.version
