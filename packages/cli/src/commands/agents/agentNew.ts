import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { shellWord } from '../../arguments/readOptions.ts'
import { encryptKeystore, refuseExisting, writeKeystoreFile } from '../../keys/keystore.ts'
import { readNewPassword } from '../../keys/readPassword.ts'
import { formatFields } from '../../output/formatTable.ts'
import type { Command } from '../command.ts'

/** `bezel agent new`. */
export const agentNewCommand: Command = {
  name: 'agent new',
  summary: 'makes a key for an agent and keeps it in an encrypted file',
  operands: [{ name: 'FILE', what: 'file to write (default: in ~/.bezel, named after the address)', isOptional: true }],
  options: {},
  examples: ['agent new', 'agent new ./bot.json'],
  async run({ args, output, environment }) {
    const privateKey = generatePrivateKey()
    output.hide(privateKey.slice(2))
    const { address } = privateKeyToAccount(privateKey)
    const path = resolve(args.operands[0] ?? join(homedir(), '.bezel', `${address}.json`))
    refuseExisting(path)
    const password = await readNewPassword(environment.passwords)
    writeKeystoreFile(path, await encryptKeystore(privateKey, password))
    output.answer({ address, keystore: path }, () =>
      formatFields(
        [
          ['Address', address],
          ['Keystore', path],
        ],
        output,
      ),
    )
    const next = `bezel agent authorise --keystore ${shellWord(path)}`
    output.note(`Keep the password: nobody can get the key back without it. Next: \`${next}\``)
  },
}
