import { ApiError } from '@bezel/protocol'
export function nonceReused(): ApiError {
  return new ApiError('NONCE_REUSED', 'This agent already used this nonce: use a new one for each request.')
}
