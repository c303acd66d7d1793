export { issueToken, tokenNotFound } from './actions.ts'
export { handleSecurityReports } from './announce.ts'
export { tokensRevoked } from './events.ts'
export { withAccountNames } from './names.ts'
export { revokeTokensOfUser } from './revoke.ts'
export { tokenRoutes } from './routes.ts'
export {
  deleteTokens,
  deploymentTokenMaker,
  type Holder,
  invalidateDeploymentToken,
  oldestFirst,
  selectTokens,
  type TokenRow,
} from './store.ts'
