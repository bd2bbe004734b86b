import { casesOverHttp } from '../support/http-cases.js';

casesOverHttp(1);
