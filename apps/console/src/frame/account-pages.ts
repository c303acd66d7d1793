import { Fingerprint, History, KeyRound, MonitorSmartphone, ShieldCheck, User } from 'lucide-react'
import { links } from '../routing/links.ts'

/** The account pages in their order; their names are `tab.*` of the area `account`. */
export const accountPages = [
  { id: 'profile', icon: User, link: links.settings() },
  { id: 'signIn', icon: Fingerprint, link: links.signInMethods() },
  { id: 'factors', icon: ShieldCheck, link: links.secondFactors() },
  { id: 'sessions', icon: MonitorSmartphone, link: links.sessions() },
  { id: 'log', icon: History, link: links.securityLog() },
  { id: 'tokens', icon: KeyRound, link: links.tokens() },
] as const
