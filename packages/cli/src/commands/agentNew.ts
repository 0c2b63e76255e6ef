import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { encryptKeystore } from '../keys/encryptKeystore.ts'
import { refuseExisting, writeKeystoreFile } from '../keys/keystoreFile.ts'
import { readNewPassword } from '../keys/readPassword.ts'
import { formatFields } from '../output/formatFields.ts'
import type { Command } from './command.ts'

/** `bezel agent new`. */
export const agentNew: Command = {
  name: 'agent new',
  summary: 'makes a key for an agent and keeps it in an encrypted file',
  operands: [{ name: 'FILE', what: 'where to; by default in ~/.bezel, named after its address', isOptional: true }],
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
        output.style,
      ),
    )
    output.note(
      `Keep the password: nobody can get the key back without it. Next: bezel agent authorise --keystore ${path}`,
    )
  },
}
