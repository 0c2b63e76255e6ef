import { encodeDeployData, encodeFunctionData, getContractAddress, type Abi, type Address, type Hex } from 'viem'
import { linkBytecode, loadArtifact } from './artifact.ts'

/** A transaction of a deployment, to be signed with the nonce `firstNonce` plus its position. */
export type DeploymentTransaction = { to: Address | null; data: Hex; value: bigint }

/**
 * A deployment as data. Addresses follow from the deployer's nonces, so every transaction is known before the first one
 * is sent, and all of them fit into a few blocks.
 */
export type Deployment = {
  deployer: Address
  transactions: readonly DeploymentTransaction[]
  /** Adds the creation of a contract and returns its address. Libraries that it needs are deployed first, once each. */
  deploy(contractName: string, args?: readonly unknown[]): Address
  call(to: Address, abi: Abi, functionName: string, args: readonly unknown[]): void
  send(to: Address, data: Hex, value: bigint): void
}

export function createDeployment(deployer: Address, firstNonce = 0): Deployment {
  const transactions: DeploymentTransaction[] = []
  const libraries = new Map<string, Address>()

  function deploy(contractName: string, args: readonly unknown[] = []): Address {
    const artifact = loadArtifact(contractName)
    const bytecode = linkBytecode(artifact, libraryAddress)
    const data = encodeDeployData({ abi: artifact.abi, bytecode, args })
    const nonce = BigInt(firstNonce + transactions.length)
    transactions.push({ to: null, data, value: 0n })
    return getContractAddress({ from: deployer, nonce })
  }

  function libraryAddress(name: string): Address {
    const address = libraries.get(name) ?? deploy(name)
    libraries.set(name, address)
    return address
  }

  return {
    deployer,
    transactions,
    deploy,
    call: (to, abi, functionName, args) =>
      void transactions.push({ to, data: encodeFunctionData({ abi, functionName, args }), value: 0n }),
    send: (to, data, value) => void transactions.push({ to, data, value }),
  }
}
