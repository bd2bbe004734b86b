import type { Declaration } from '../../src/core/catalog.js';
import { readDeclaration } from '../../src/core/declaration-reader.js';
import type { SyncToSave } from '../../src/governance/governance.store.js';

/** A tool as a source declares it. */
export const declare = (name: string, more: object = {}): Declaration => readDeclaration({ description: 'd', ...more }, name, { format: 'toolcrib', defaultToolset: 'default' });

/** A sync of some declarations that takes nothing away. */
export const plan = (...declarations: Declaration[]): SyncToSave => ({ declarations, missing: [], categories: null });
