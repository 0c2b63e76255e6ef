import { readCodeBlocks } from '../codeBlocks.ts'

/** The commands of docs/operations.md that make an image and run a node in it, for a shell in the project's folder. */
export interface ContainerCommands {
  readonly build: string
  readonly secrets: string
  readonly run: string
}

/** The place of a trial: a folder with `release` and `etc`, the container's name and the node's port. */
interface TrialPlace {
  readonly folder: string
  readonly name: string
  readonly port: number
}

/**
 * Reads the commands as they are on the page, but for places: files are below the folder of the trial, and the node
 * shares the network of the machine, on whose loopback the chain and the databases are, and its limits, which podman
 * may not raise everywhere.
 */
export function readContainerCommands({ folder, name, port }: TrialPlace): ContainerCommands {
  const page = readCodeBlocks('docs/operations.md').find(({ code }) => code.startsWith('podman build'))
  const [build, secrets, run, ...rest] = page?.code.split('\n') ?? []
  if (run === undefined || rest.length > 0) throw new Error('docs/operations.md has no three commands for a container')
  return {
    build: replaced(build!, ' dist-release', ` ${folder}/release`),
    secrets: replaced(secrets!, ' /etc/bezel/secrets/', ` ${folder}/etc/secrets/`),
    run: [
      [' run ', ` run --detach --name ${name} --env PORT=${port} --ulimit nofile=$(ulimit -Hn) --ulimit nproc=4096 `],
      ['--env-file /etc/bezel/', `--env-file ${folder}/etc/`],
      ['--volume /etc/bezel/', `--volume ${folder}/etc/`],
      ['--publish 127.0.0.1:8080:8080', '--network host'],
    ].reduce((command, [words, others]) => replaced(command, words!, others!), run),
  }
}

function replaced(command: string, words: string, others: string): string {
  if (!command.includes(words)) throw new Error(`"${command}" of docs/operations.md has no "${words}"`)
  return command.replace(words, others)
}
