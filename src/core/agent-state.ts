/** How a tool came to its agent: from governance and document alone, no runtime context (semantics, section 6). */
import type { CatalogTool } from './catalog.js';
import { comesByDefault } from './catalog.js';
import type { PolicyAgent } from './policy-view.js';

/** The states of a tool that an agent has. */
export const GRANTED_STATES = ['default_enabled', 'agent_enabled'] as const;
export type GrantedState = (typeof GRANTED_STATES)[number];

/** Of a tool that is granted and not closed. */
export const grantedState = ({ effective }: CatalogTool, { inheritsCore }: PolicyAgent): GrantedState =>
  comesByDefault(effective, inheritsCore) ? 'default_enabled' : 'agent_enabled';
