import { SetMetadata } from '@nestjs/common';

/** What a route asks of its caller is kept under this name. */
export const ACCESS_RULE = 'toolcrib:access';

/** Open to everybody, without a key. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(ACCESS_RULE, 'public');
