/** Web3 Secret Storage, version 3: what other wallets write and read too. */
export interface Keystore {
  readonly version: 3
  readonly id: string
  /** Without `0x`. For people: the key itself says whose it is. */
  readonly address: string
  readonly crypto: {
    readonly cipher: 'aes-128-ctr'
    readonly cipherparams: { readonly iv: string }
    readonly ciphertext: string
    readonly kdf: 'scrypt' | 'pbkdf2'
    readonly kdfparams: ScryptParams | Pbkdf2Params
    readonly mac: string
  }
}

export interface ScryptParams {
  readonly dklen: number
  readonly n: number
  readonly r: number
  readonly p: number
  readonly salt: string
}

export interface Pbkdf2Params {
  readonly dklen: number
  readonly c: number
  readonly prf: 'hmac-sha256'
  readonly salt: string
}
